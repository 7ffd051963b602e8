"""Lists of pictures of a question: paths, bytes and arrays."""

import json

import matplotlib.image
import numpy as np
from test_models import write_tensors

import qkv


def small_vit(folder):
    """A ViT of one layer that tells two classes apart, in four patches of four pixels a side."""
    draw = np.random.default_rng(3)
    layer = "vit.encoder.layer.0."
    maps = {f"{layer}attention.attention.{name}": (4, 4) for name in ("query", "key", "value")}
    maps |= {f"{layer}attention.output.dense": (4, 4), f"{layer}intermediate.dense": (6, 4)}
    maps |= {f"{layer}output.dense": (4, 6), "vit.embeddings.patch_embeddings.projection": (4, 3, 4, 4)}
    maps |= {f"{layer}layernorm_before": (4,), f"{layer}layernorm_after": (4,), "vit.layernorm": (4,)}
    maps |= {"classifier": (2, 4)}
    tensors = {"vit.embeddings.cls_token": (1, 1, 4), "vit.embeddings.position_embeddings": (1, 5, 4)}
    for name, shape in maps.items():
        tensors |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    write_tensors(folder / "model.safetensors", {name: draw.normal(size=shape) for name, shape in tensors.items()})
    sizes = {"hidden_size": 4, "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {"patch_size": 4, "image_size": 8, "id2label": {"0": "cat", "1": "dog"}}
    means = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
    files = {
        "config": {"model_type": "vit", "architectures": ["ViTForImageClassification"], **sizes},
        "preprocessor_config": {"image_processor_type": "ViTImageProcessor", "size": 8, **means},
    }
    for name, said in files.items():
        (folder / f"{name}.json").write_text(json.dumps(said))
    return folder


def test_lists_of_files_may_be_bytes_or_arrays(tmp_path):
    model = small_vit(tmp_path)
    pixels = np.random.default_rng(1).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    matplotlib.image.imsave(tmp_path / "p.png", pixels)
    png = (tmp_path / "p.png").read_bytes()
    of_file = qkv.ask("analyze", model=model, pictures=[str(tmp_path / "p.png")])["loss"]
    for pictures in (png, tmp_path / "p.png", [png], [pixels], (pixels.tolist(),)):
        assert qkv.ask("analyze", model=model, pictures=pictures)["loss"] == of_file
    assert qkv.ask("analyze", model=model, pictures=[png, png])["text_count"] == 2
