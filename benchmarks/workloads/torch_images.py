"""The convolutional networks of convolutional.py in PyTorch, layer by layer under the names that Keras gives."""

import numpy as np

from workloads.dense import linear
from workloads.weights import weight


def _conv(torch, name, inputs, outputs, size, stride=1, padding=0, bias=True):
    layer = torch.nn.Conv2d(inputs, outputs, size, stride, padding, bias=bias)
    kernel = weight(f"{name}/kernel", (size, size, inputs, outputs))
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(kernel.transpose(3, 2, 0, 1).copy()))
        if bias:
            layer.bias.zero_()
    return layer


def _depthwise(torch, name, channels, stride, padding):
    layer = torch.nn.Conv2d(channels, channels, 3, stride, padding, groups=channels, bias=False)
    kernel = weight(f"{name}/kernel", (3, 3, channels, 1))
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(np.ascontiguousarray(kernel.transpose(2, 3, 0, 1))))
    return layer


def small_cnn(torch):
    nn = torch.nn

    class AsKeras(nn.Module):
        """Flattens rows, columns, channels in this order."""

        def forward(self, x):
            return x.permute(0, 2, 3, 1).flatten(1)

    return nn.Sequential(
        _conv(torch, "conv1", 1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        _conv(torch, "conv2", 32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        AsKeras(), linear(torch, "hidden", 3136, 1024), nn.ReLU(), linear(torch, "out", 1024, 10),
    )  # fmt: skip


def resnet_50(torch):
    nn = torch.nn

    def norm(channels):
        return nn.BatchNorm2d(channels, eps=1.001e-5, momentum=0.01)

    class Block(nn.Module):
        def __init__(self, name, inputs, width, stride, shortcut):
            super().__init__()
            self.shortcut = nn.Sequential(
                _conv(torch, f"{name}_0_conv", inputs, 4 * width, 1, stride), norm(4 * width)
            ) if shortcut else nn.Identity()
            self.body = nn.Sequential(
                _conv(torch, f"{name}_1_conv", inputs, width, 1, stride), norm(width), nn.ReLU(),
                _conv(torch, f"{name}_2_conv", width, width, 3, padding=1), norm(width), nn.ReLU(),
                _conv(torch, f"{name}_3_conv", width, 4 * width, 1), norm(4 * width),
            )  # fmt: skip

        def forward(self, x):
            return torch.relu(self.shortcut(x) + self.body(x))

    layers = [_conv(torch, "conv1_conv", 3, 64, 7, 2, 3), norm(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stack, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)], 2):
        for block in range(1, blocks + 1):
            stride = 2 if block == 1 and stack > 2 else 1
            layers.append(Block(f"conv{stack}_block{block}", inputs, width, stride, block == 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(torch, "predictions", 2048, 10))


def mobile_net(torch):
    nn = torch.nn

    def norm(channels):
        return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.001)

    def halving(layer):
        return nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), layer)

    class Block(nn.Module):
        def __init__(self, number, inputs, outputs, stride, expansion):
            super().__init__()
            name, width, layers = f"block_{number}" if number else "expanded_conv", inputs * expansion, []
            if number:
                layers += [_conv(torch, f"{name}_expand", inputs, width, 1, bias=False), norm(width), nn.ReLU6()]
            depthwise = _depthwise(torch, f"{name}_depthwise", width, stride, 0 if stride == 2 else 1)
            layers += [halving(depthwise) if stride == 2 else depthwise, norm(width), nn.ReLU6()]
            layers += [_conv(torch, f"{name}_project", width, outputs, 1, bias=False), norm(outputs)]
            self.body, self.is_residual = nn.Sequential(*layers), inputs == outputs and stride == 1

        def forward(self, x):
            return x + self.body(x) if self.is_residual else self.body(x)

    layers = [halving(_conv(torch, "Conv1", 3, 32, 3, 2, bias=False)), norm(32), nn.ReLU6()]
    inputs, number = 32, 0
    for expansion, outputs, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                              (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:  # fmt: skip
        for block in range(count):
            layers.append(Block(number, inputs, outputs, stride if block == 0 else 1, expansion))
            inputs, number = outputs, number + 1
    return nn.Sequential(
        *layers, _conv(torch, "Conv_1", 320, 1280, 1, bias=False), norm(1280), nn.ReLU6(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(torch, "predictions", 1280, 10),
    )  # fmt: skip
