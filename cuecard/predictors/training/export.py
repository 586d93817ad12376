"""Writes a trained ensemble as one ONNX file that needs nothing but onnxruntime and the names in its metadata."""

import json
import os
from pathlib import Path

import numpy as np

from cuecard.predictors.features import N_TEXTS
from cuecard.predictors.learned import KEY, ModelCard
from cuecard.predictors.training.fit import Trained
from cuecard.predictors.training.net import N_OFFSETS


def write_onnx(trained: Trained, card: ModelCard, path: Path) -> None:
    """Replace `path` in one move: a reader sees the old model or the new one, never half of one."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nets, names = trained.members, trained.names
    d, n = nets[0].bias.shape[0], len(nets)
    h = nets[0].hidden_bias.shape[0] // N_OFFSETS
    nothing = np.zeros((1, d * n), np.float32)
    weights = {
        # The row after the last mark is for calls without any known mark.
        "marks_w": np.concatenate([np.concatenate([net.marks for net in nets], axis=1), nothing]).astype(np.float16),
        "projection": trained.projection,
        "texts_w": np.concatenate([net.texts for net in nets], axis=1),
        "bias": np.concatenate([net.bias for net in nets])[None],
        "hidden_w": np.stack([net.hidden for net in nets]),
        "hidden_b": np.stack([net.hidden_bias for net in nets])[:, None],
        "out_w": np.stack([net.out for net in nets]),
        "out_b": np.stack([net.out_bias for net in nets]),
        "flat": np.array([1, -1], np.int64),
        "by_member": np.array([n, 1, d], np.int64),
        "by_offset": np.array([n, N_OFFSETS, 1, h], np.int64),
        "first_axis": np.array([0], np.int64),
        "last_axis": np.array([3], np.int64),
        "row_axis": np.array([1], np.int64),
    }
    node = helper.make_node
    nodes = [
        node("Gather", ["marks_w", "marks"], ["found_half"]),
        node("Cast", ["found_half"], ["found"], to=TensorProto.FLOAT),
        node("ReduceSum", ["found", "first_axis"], ["bag"], keepdims=1),
        node("MatMul", ["texts", "projection"], ["short"]),
        node("Reshape", ["short", "flat"], ["said"]),
        node("MatMul", ["said", "texts_w"], ["heard"]),
        node("Add", ["bag", "heard"], ["both"]),
        node("Add", ["both", "bias"], ["before"]),
        node("Relu", ["before"], ["h_flat"]),
        node("Reshape", ["h_flat", "by_member"], ["h"]),
        node("MatMul", ["h", "hidden_w"], ["q_w"]),
        node("Add", ["q_w", "hidden_b"], ["q_b"]),
        node("Relu", ["q_b"], ["q_flat"]),
        node("Reshape", ["q_flat", "by_offset"], ["q"]),
        node("MatMul", ["q", "out_w"], ["o_w"]),
        node("Add", ["o_w", "out_b"], ["logits"]),
    ]
    outputs = []
    for head, part in zip(names.labels, names.heads, strict=True):
        weights[f"{head}_from"] = np.array([part.start], np.int64)
        weights[f"{head}_to"] = np.array([part.stop], np.int64)
        nodes += [
            node("Slice", ["logits", f"{head}_from", f"{head}_to", "last_axis"], [f"{head}_logits"]),
            node("Softmax", [f"{head}_logits"], [f"{head}_members"], axis=-1),
            node("ReduceMean", [f"{head}_members", "first_axis"], [f"{head}_mean"], keepdims=0),
            node("Squeeze", [f"{head}_mean", "row_axis"], [head]),
        ]
        outputs.append(helper.make_tensor_value_info(head, TensorProto.FLOAT, [N_OFFSETS, part.stop - part.start]))
    graph = helper.make_graph(
        nodes,
        "next_turns",
        [
            helper.make_tensor_value_info("marks", TensorProto.INT64, ["n_marks"]),
            helper.make_tensor_value_info("texts", TensorProto.FLOAT, [N_TEXTS, trained.projection.shape[0]]),
        ],
        outputs,
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, {KEY: json.dumps(card.to_json())})
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(model.SerializeToString())
    os.replace(unfinished, path)
