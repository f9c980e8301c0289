"""sentence-transformers' SparseEncoderTrainer as a user configures it: python sparse_trainer.py CHECKPOINT EXAMPLES THREADS.

An inference-free SparseEncoder: MLMTransformer and SpladePooling for documents, SparseStaticEmbedding for queries, SpladeLoss
over SparseDistillKLDivLoss. EXAMPLES are JSON lines {"query", "documents": [2], "scores": [2]}, 8 of them a step. Each request
trains over all of them once; the answer has the mean time of a step, without the first. Dropout is off, as with us.
"""

import contextlib
import json
import resource
import sys
import tempfile
import time

import torch
from datasets import Dataset
from sentence_transformers import SparseEncoder, SparseEncoderTrainer, SparseEncoderTrainingArguments
from sentence_transformers.sentence_transformer.modules import Router
from sentence_transformers.sparse_encoder.losses import SparseDistillKLDivLoss, SpladeLoss
from sentence_transformers.sparse_encoder.modules import MLMTransformer, SparseStaticEmbedding, SpladePooling
from transformers import TrainerCallback

from lines import serve

QUERIES, MAX_LENGTH = 8, 256
checkpoint, examples_file, threads = sys.argv[1:]
torch.set_num_threads(int(threads))

transformer = MLMTransformer(checkpoint)
transformer.max_seq_length = MAX_LENGTH
router = Router.for_query_document(
    query_modules=[SparseStaticEmbedding(transformer.tokenizer, frozen=True)],
    document_modules=[transformer, SpladePooling(pooling_strategy="max", activation_function="log1p_relu")],
)
model = SparseEncoder(modules=[router], device="cpu")
for module in model.modules():
    if isinstance(module, torch.nn.Dropout):
        module.p = 0.0
loss = SpladeLoss(model, SparseDistillKLDivLoss(model, temperature=1.0), document_regularizer_weight=1e-4)
examples = [json.loads(line) for line in open(examples_file)]
dataset = Dataset.from_dict(
    {
        "query": [e["query"] for e in examples],
        "positive": [e["documents"][0] for e in examples],
        "negative": [e["documents"][1] for e in examples],
        "label": [e["scores"] for e in examples],
    }
)


class Clock(TrainerCallback):
    """Times from the end of the first step to the end of the last, collating included."""

    def on_step_end(self, args, state, control, **kwargs):
        self.end = time.perf_counter()
        if state.global_step == 1:
            self.start = self.end
        self.steps = state.global_step - 1


def measure(_):
    clock = Clock()
    arguments = SparseEncoderTrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=QUERIES,
        num_train_epochs=1,
        learning_rate=2e-5,
        weight_decay=0.01,
        warmup_steps=0,
        router_mapping={"query": "query", "positive": "document", "negative": "document"},
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        logging_strategy="no",
    )
    trainer = SparseEncoderTrainer(model=model, args=arguments, train_dataset=dataset, loss=loss, callbacks=[clock])
    with contextlib.redirect_stdout(sys.stderr):
        trainer.train()
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"ms": 1000 * (clock.end - clock.start) / clock.steps, "peakMemoryBytes": peak}


serve(measure)
