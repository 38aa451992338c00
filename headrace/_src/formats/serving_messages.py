"""What TensorFlow Serving's clients and configuration files say, with its field numbers.

The names are headrace's own, so that these messages and those of the package `tensorflow-serving-api` can be in one
process; on the wire, only numbers count. Tensors, Examples and signatures stay bytes here: they are read by what reads
them elsewhere, once they are wanted. This file is imported when a message is first asked for.
"""

from headrace._src.formats.message_classes import MessageFile, make_classes

_POLICY = "ModelVersionPolicy"

_FILES = [
    MessageFile(
        "headrace/serving.proto",
        {
            # Int64Value and its relatives: a number that can be absent.
            "Number": "value: int64 = 1",
            "Truth": "value: bool = 1",
            "PackedMessage": "type_url: string = 1, value: bytes = 2",
            "ModelSpec": "name: string = 1, version_choice(version: Number = 2, version_label: string = 4), "
            "signature_name: string = 3",
            "PredictRequest": "model_spec: ModelSpec = 1, inputs: {string: bytes} = 2, output_filter: [string] = 3",
            "PredictResponse": "model_spec: ModelSpec = 2, outputs: {string: bytes} = 1",
            "NamedTensor": "name: string = 1, tensor: bytes = 2",
            "SessionRunRequest": "model_spec: ModelSpec = 1, feed: [NamedTensor] = 2, fetch: [string] = 3, "
            "target: [string] = 4, tensor_name_is_alias: bool = 6",
            "SessionRunResponse": "tensor: [NamedTensor] = 1, model_spec: ModelSpec = 3",
            "ExampleList": "examples: [bytes] = 1",
            "ExampleListWithContext": "examples: [bytes] = 1, context: bytes = 2",
            "Input": "kind(example_list: ExampleList = 1, example_list_with_context: ExampleListWithContext = 2)",
            "Class": "label: string = 1, score: float = 2",
            "Classifications": "classes: [Class] = 1",
            "ClassificationResult": "classifications: [Classifications] = 1",
            "ClassificationRequest": "model_spec: ModelSpec = 1, input: Input = 2",
            "ClassificationResponse": "model_spec: ModelSpec = 2, result: ClassificationResult = 1",
            "Regression": "value: float = 1",
            "RegressionResult": "regressions: [Regression] = 1",
            "RegressionRequest": "model_spec: ModelSpec = 1, input: Input = 2",
            "RegressionResponse": "model_spec: ModelSpec = 2, result: RegressionResult = 1",
            "InferenceTask": "model_spec: ModelSpec = 1, method_name: string = 2",
            "InferenceResult": "model_spec: ModelSpec = 1, "
            "result(classification_result: ClassificationResult = 2, regression_result: RegressionResult = 3)",
            "MultiInferenceRequest": "tasks: [InferenceTask] = 1, input: Input = 2",
            "MultiInferenceResponse": "results: [InferenceResult] = 1",
            "SignatureDefMap": "signature_def: {string: bytes} = 1",
            "GetModelMetadataRequest": "model_spec: ModelSpec = 1, metadata_field: [string] = 2",
            "GetModelMetadataResponse": "model_spec: ModelSpec = 1, metadata: {string: PackedMessage} = 2",
            "Status": "error_code: int32 = 1, error_message: string = 2",
            "GetModelStatusRequest": "model_spec: ModelSpec = 1",
            "ModelVersionStatus": "version: int64 = 1, state: VersionState = 2, status: Status = 3",
            "GetModelStatusResponse": "model_version_status: [ModelVersionStatus] = 1",
            # Configuration.
            f"{_POLICY}": f"policy_choice(latest: {_POLICY}.Latest = 100, all: {_POLICY}.All = 101, "
            f"specific: {_POLICY}.Specific = 102)",
            f"{_POLICY}.Latest": "num_versions: uint32 = 1",
            f"{_POLICY}.All": "",
            f"{_POLICY}.Specific": "versions: [int64] = 1",
            "LogCollectorConfig": "type: string = 1, filename_prefix: string = 2",
            "SamplingConfig": "sampling_rate: double = 1",
            "LoggingConfig": "log_collector_config: LogCollectorConfig = 1, sampling_config: SamplingConfig = 2",
            "ModelConfig": "name: string = 1, base_path: string = 2, model_type: ModelType = 3, "
            f"model_platform: string = 4, model_version_policy: {_POLICY} = 7, version_labels: {{string: int64}} = 8, "
            "logging_config: LoggingConfig = 6",
            "ModelConfigList": "config: [ModelConfig] = 1",
            "ModelServerConfig": "config(model_config_list: ModelConfigList = 1, "
            "custom_model_config: PackedMessage = 2)",
            "Metric": "name: string = 1, int64_value_increase: int64 = 2",
            "ReloadConfigRequest": "config: ModelServerConfig = 1, metric_names: [string] = 2",
            "ReloadConfigResponse": "status: Status = 1, metric: [Metric] = 2",
            "BatchingParameters": "max_batch_size: Number = 1, batch_timeout_micros: Number = 2, "
            "max_enqueued_batches: Number = 3, num_batch_threads: Number = 4, thread_pool_name: string = 5, "
            "allowed_batch_sizes: [int64] = 6, pad_variable_length_inputs: bool = 7, "
            "enable_large_batch_splitting: Truth = 8, max_execution_batch_size: Number = 9",
            "SSLConfig": "server_key: string = 1, server_cert: string = 2, custom_ca: string = 3, "
            "client_verify: bool = 4",
            "PrometheusConfig": "enable: bool = 1, path: string = 2",
            "MonitoringConfig": "prometheus_config: PrometheusConfig = 1",
            # What files of kept requests and of warm-up hold.
            "ClassifyLog": "request: ClassificationRequest = 1, response: ClassificationResponse = 2",
            "RegressLog": "request: RegressionRequest = 1, response: RegressionResponse = 2",
            "PredictLog": "request: PredictRequest = 1, response: PredictResponse = 2",
            "MultiInferenceLog": "request: MultiInferenceRequest = 1, response: MultiInferenceResponse = 2",
            "LogMetadata": "model_spec: ModelSpec = 1, sampling_config: SamplingConfig = 2, "
            "saved_model_tags: [string] = 3, timestamp_secs: int64 = 4",
            "PredictionLog": "log_metadata: LogMetadata = 1, "
            "log_type(classify_log: ClassifyLog = 2, regress_log: RegressLog = 3, "
            "predict_log: PredictLog = 6, multi_inference_log: MultiInferenceLog = 4)",
            "HealthCheckRequest": "service: string = 1",
            "HealthCheckResponse": "status: ServingStatus = 1",
        },
        {
            "VersionState": {
                "UNKNOWN": 0, "START": 10, "LOADING": 20, "AVAILABLE": 30, "UNLOADING": 40, "END": 50,
            },
            "ModelType": {"MODEL_TYPE_UNSPECIFIED": 0, "TENSORFLOW": 1, "OTHER": 2},
            "ServingStatus": {"STATUS_UNKNOWN": 0, "SERVING": 1, "NOT_SERVING": 2, "SERVICE_UNKNOWN": 3},
        },
        package="headrace.serving",
    ),
]  # fmt: skip

_CLASSES = make_classes(_FILES)

BatchingParameters = _CLASSES["BatchingParameters"]
Class = _CLASSES["Class"]
ClassificationRequest = _CLASSES["ClassificationRequest"]
ClassificationResponse = _CLASSES["ClassificationResponse"]
ClassificationResult = _CLASSES["ClassificationResult"]
Classifications = _CLASSES["Classifications"]
ClassifyLog = _CLASSES["ClassifyLog"]
ExampleList = _CLASSES["ExampleList"]
ExampleListWithContext = _CLASSES["ExampleListWithContext"]
GetModelMetadataRequest = _CLASSES["GetModelMetadataRequest"]
GetModelMetadataResponse = _CLASSES["GetModelMetadataResponse"]
GetModelStatusRequest = _CLASSES["GetModelStatusRequest"]
GetModelStatusResponse = _CLASSES["GetModelStatusResponse"]
HealthCheckRequest = _CLASSES["HealthCheckRequest"]
HealthCheckResponse = _CLASSES["HealthCheckResponse"]
InferenceResult = _CLASSES["InferenceResult"]
InferenceTask = _CLASSES["InferenceTask"]
Input = _CLASSES["Input"]
LogCollectorConfig = _CLASSES["LogCollectorConfig"]
LogMetadata = _CLASSES["LogMetadata"]
LoggingConfig = _CLASSES["LoggingConfig"]
Metric = _CLASSES["Metric"]
ModelConfig = _CLASSES["ModelConfig"]
ModelConfigList = _CLASSES["ModelConfigList"]
ModelServerConfig = _CLASSES["ModelServerConfig"]
ModelSpec = _CLASSES["ModelSpec"]
ModelVersionStatus = _CLASSES["ModelVersionStatus"]
MonitoringConfig = _CLASSES["MonitoringConfig"]
MultiInferenceLog = _CLASSES["MultiInferenceLog"]
MultiInferenceRequest = _CLASSES["MultiInferenceRequest"]
MultiInferenceResponse = _CLASSES["MultiInferenceResponse"]
Number = _CLASSES["Number"]
PackedMessage = _CLASSES["PackedMessage"]
PredictLog = _CLASSES["PredictLog"]
PredictRequest = _CLASSES["PredictRequest"]
PredictResponse = _CLASSES["PredictResponse"]
PredictionLog = _CLASSES["PredictionLog"]
PrometheusConfig = _CLASSES["PrometheusConfig"]
RegressLog = _CLASSES["RegressLog"]
Regression = _CLASSES["Regression"]
RegressionRequest = _CLASSES["RegressionRequest"]
RegressionResponse = _CLASSES["RegressionResponse"]
RegressionResult = _CLASSES["RegressionResult"]
ReloadConfigRequest = _CLASSES["ReloadConfigRequest"]
ReloadConfigResponse = _CLASSES["ReloadConfigResponse"]
SSLConfig = _CLASSES["SSLConfig"]
SamplingConfig = _CLASSES["SamplingConfig"]
SessionRunRequest = _CLASSES["SessionRunRequest"]
SessionRunResponse = _CLASSES["SessionRunResponse"]
SignatureDefMap = _CLASSES["SignatureDefMap"]
Status = _CLASSES["Status"]
Truth = _CLASSES["Truth"]
