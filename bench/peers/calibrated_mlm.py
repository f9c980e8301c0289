"""Makes a BertForMaskedLM of an encoder without head: python calibrated_mlm.py CHECKPOINT INPUT OUTPUT.

The head is random (fixed seed), tied to the word embeddings; its bias is the one that leaves TARGET terms active on the
first documents of INPUT: minus each term's mean pooled logit, minus one threshold. For speed only; the vectors mean nothing.
"""

import shutil
import sys

import torch
from transformers import AutoTokenizer, BertForMaskedLM

from lines import texts

TARGET = 200
DOCUMENTS = 64
checkpoint, source, output = sys.argv[1:]

torch.manual_seed(1)
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = BertForMaskedLM.from_pretrained(checkpoint).eval()
with torch.inference_mode():
    pooled = []
    for text in texts(source)[:DOCUMENTS]:
        inputs = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        pooled.append(model(**inputs).logits[0].amax(dim=0))
    z = torch.stack(pooled)
    centred = z - z.mean(dim=0)
    threshold = centred.flatten().kthvalue(centred.numel() - TARGET * len(pooled)).values
    bias = -(z.mean(dim=0) + threshold)
model.cls.predictions.bias.data += bias
model.save_pretrained(output)
for name in ("tokenizer.json", "vocab.txt"):
    shutil.copy(f"{checkpoint}/{name}", output)
