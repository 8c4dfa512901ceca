"""Tables in and out: files told apart by content, frames of other libraries, all as Arrow; whole or not at all."""
