"""What ran when, in the files that TensorBoard's profile plugin reads."""
