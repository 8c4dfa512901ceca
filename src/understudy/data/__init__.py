"""Tables in and out, and the engines that count them."""
