"""A degenerate provider: it never opens the skill and repeats the first advice it hears."""

import json
import re
import sys


def answer(request):
    """The first offered action that anybody recommends."""
    for message in request["given"]["surroundings"]:
        for name in sorted(request["actionVocabulary"], key=len, reverse=True):
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", message["text"]):
                return {"action": name}
    return {"action": request["actionVocabulary"][0]}


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
