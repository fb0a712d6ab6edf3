"""What every code means: the catalogue behind `eval-quality explain` and `examples/corpus`.

catalogue.CATALOGUE      every failure code, fault code, coverage rule, pre-flight check and qualification reason
corpus.CORPUS            contracts, each a minimal edit of one base, with what they are an example of
render.explanation_text  one entry as text
"""
