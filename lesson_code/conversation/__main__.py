"""Run the chat: `python -m lesson_code.conversation --db FILE`."""

import sys

from lesson_code.conversation.terminal import main

if __name__ == "__main__":
    sys.exit(main())
