/** A refusal by the Bot API: HTTP status and the official server's text. */
export class ApiError extends Error {
  readonly code: number;
  readonly parameters: Record<string, unknown> | undefined;

  constructor(code: number, description: string, parameters?: Record<string, unknown>) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** 400; the text goes after "Bad Request: ". */
export function badRequest(text: string, parameters?: Record<string, unknown>): ApiError {
  return new ApiError(400, `Bad Request: ${text}`, parameters);
}

/** 403; the text goes after "Forbidden: ". */
export function forbidden(text: string): ApiError {
  return new ApiError(403, `Forbidden: ${text}`);
}

/** 429, in whole seconds. */
export function tooMany(seconds: number): ApiError {
  return new ApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
}
