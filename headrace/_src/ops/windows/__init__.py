"""Convolutions, pools and other ops that look at windows of images and volumes."""
