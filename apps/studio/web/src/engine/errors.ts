// What can go wrong between a question and its reply.

/** The engine refused: `message` says what was expected and what came, `field` which part of the request it means. */
export class EngineError extends Error {
  constructor(
    message: string,
    readonly field: string = "",
    readonly column: number | null = null,
  ) {
    super(message);
    this.name = "EngineError";
  }
}

/** Nobody answers any more. What was computed before still stands. */
export class EngineGone extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EngineGone";
  }
}

export function wasAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
