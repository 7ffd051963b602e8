"""What inspect.signature() says of functions that are compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inspect


def of_function(function: Any) -> inspect.Signature:
    # Imported by whoever asks: most programs never do.
    import ast
    import inspect
    import re

    if len(function.__nb_signature__) > 1:
        raise AttributeError(f"{function.__name__} has several signatures; its docstring has them all")
    text, _, defaults = function.__nb_signature__[0]
    tree = ast.parse(re.sub(r"= \\(\d+)", r"= defaults[\1]", text) + ": ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    given = tree.args

    def parameter(one: ast.arg, kind: Any, default: ast.expr | None = None) -> inspect.Parameter:
        value = inspect.Parameter.empty
        if isinstance(default, ast.Subscript):
            value = defaults[ast.literal_eval(default.slice)]
        elif default is not None:
            value = ast.literal_eval(default)
        annotation = inspect.Parameter.empty if one.annotation is None else ast.unparse(one.annotation)
        return inspect.Parameter(one.arg, kind, default=value, annotation=annotation)

    plain = [*given.posonlyargs, *given.args]
    required = [None] * (len(plain) - len(given.defaults))
    parameters = [
        parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD, default)
        for one, default in zip(plain, [*required, *given.defaults], strict=True)
    ]
    if given.vararg is not None:
        parameters.append(parameter(given.vararg, inspect.Parameter.VAR_POSITIONAL))
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parameters.append(parameter(one, inspect.Parameter.KEYWORD_ONLY, default))
    if given.kwarg is not None:
        parameters.append(parameter(given.kwarg, inspect.Parameter.VAR_KEYWORD))
    returns = inspect.Signature.empty if tree.returns is None else ast.unparse(tree.returns)
    return inspect.Signature(parameters, return_annotation=returns)


def of_class(one: Any) -> inspect.Signature:
    if not hasattr(one.__init__, "__nb_signature__"):
        raise AttributeError(f"{one.__name__} is made by a function of Python")
    return _without_self(of_function(one.__init__))


def of_bound_method(method: Any) -> inspect.Signature:
    return _without_self(of_function(method.__func__))


def _without_self(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])
