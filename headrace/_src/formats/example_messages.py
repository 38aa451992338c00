"""`tf.train.Example`, `SequenceExample` and their parts, as protobuf classes.

This file is imported when a message is first asked for: making the classes imports protobuf.
"""

from headrace._src.formats.message_classes import MessageFile, make_classes

_FILES = [
    MessageFile(
        "tensorflow/core/example/feature.proto",
        {
            "BytesList": "value: [bytes] = 1",
            "FloatList": "value: [float] = 1",
            "Int64List": "value: [int64] = 1",
            "Feature": "kind(bytes_list: BytesList = 1, float_list: FloatList = 2, int64_list: Int64List = 3)",
            "Features": "feature: {string: Feature} = 1",
            "FeatureList": "feature: [Feature] = 1",
            "FeatureLists": "feature_list: {string: FeatureList} = 1",
        },
    ),
    MessageFile(
        "tensorflow/core/example/example.proto",
        {
            "Example": "features: Features = 1",
            "SequenceExample": "context: Features = 1, feature_lists: FeatureLists = 2",
        },
    ),
]

CLASSES = make_classes(_FILES)

BytesList = CLASSES["BytesList"]
Example = CLASSES["Example"]
Feature = CLASSES["Feature"]
FeatureList = CLASSES["FeatureList"]
FeatureLists = CLASSES["FeatureLists"]
Features = CLASSES["Features"]
FloatList = CLASSES["FloatList"]
Int64List = CLASSES["Int64List"]
SequenceExample = CLASSES["SequenceExample"]

PUBLIC = {f"train.{name}": message for name, message in CLASSES.items()}
