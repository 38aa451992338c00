"""The fields of a message, to compare those of TensorFlow and headrace."""


def described_fields(message):
    """The fields of a message descriptor, of either side."""
    fields = {}
    for field in message.fields:
        kind = field.message_type or field.enum_type
        choice = field.containing_oneof
        # Newer releases of protobuf say `is_repeated` instead of `label`.
        repeated = field.is_repeated if hasattr(type(field), "is_repeated") else field.label == field.LABEL_REPEATED
        fields[field.name] = [
            field.number, field.type, kind and kind.full_name, repeated, choice and choice.name,
        ]  # fmt: skip
    return fields
