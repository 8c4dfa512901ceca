"""dpmm's pipelines, as they come, without its own binning."""

from __future__ import annotations

import pandas as pd
from coded_files import asked
from dpmm.pipelines import AIMPipeline, MSTPipeline

told = asked()
recipe = {"AIM": AIMPipeline, "MST": MSTPipeline}[told.mechanism]
model = recipe(epsilon=told.epsilon, delta=told.delta, disable_processing=True)
model.fit(pd.DataFrame(told.codes), domain=told.sizes)
made = model.generate(n_records=told.rows)
told.write({name: made[name] for name in told.sizes})
