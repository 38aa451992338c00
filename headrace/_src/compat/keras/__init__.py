"""What an unmodified Keras 3 needs of headrace, and what programs and files of Keras 2 need of Keras 3."""
