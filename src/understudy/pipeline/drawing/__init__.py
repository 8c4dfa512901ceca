"""What synthetic records are beyond drawn codes: columns that are made up, conditions that they fulfil."""
