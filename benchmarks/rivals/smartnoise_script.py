"""smartnoise-synth as it comes; the codes of a column are told beforehand, so that none is learned."""

from __future__ import annotations

import pandas as pd
from coded_files import asked
from snsynth import Synthesizer
from snsynth.transform import LabelTransformer
from snsynth.transform.table import TableTransformer

told = asked()
known = []
for size in told.sizes.values():
    labels = LabelTransformer(nullable=False)
    labels.fit([*range(size)])
    known.append(labels)
model = Synthesizer.create(told.mechanism.lower(), epsilon=told.epsilon, delta=told.delta)
table = pd.DataFrame(told.codes)
made = model.fit_sample(table, transformer=TableTransformer(known), preprocessor_eps=0.0)
told.write({name: made[name] for name in told.sizes})
