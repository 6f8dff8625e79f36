/**
 * Reads a request's arguments as the official server does: from the query string and from a JSON, urlencoded or
 * multipart body, every value as a string. The multipart reader is our own and covers what clients send.
 */
import type { IncomingMessage } from "node:http";
import { ApiError, badRequest } from "./api-error.ts";
import { LIMITS } from "./limits.ts";

interface UploadedFile {
  field: string;
  fileName: string;
  mimeType: string;
  content: Buffer;
}

export interface Arguments {
  values: Record<string, string>;
  files: UploadedFile[];
  encoding: string;
}

/** @throws ApiError 400 or 413 */
export async function readArguments(request: IncomingMessage, query: URLSearchParams): Promise<Arguments> {
  const values: Record<string, string> = Object.fromEntries(query);
  const empty = Object.keys(values).length === 0;
  const body = await readBody(request, LIMITS.uploadBytes + 1024 * 1024);
  const type = request.headers["content-type"] ?? "";
  if (body.length === 0) return { values, files: [], encoding: empty ? "none" : "query" };
  if (/^application\/json/iu.test(type)) {
    return { values: { ...values, ...fromJson(body) }, files: [], encoding: "json" };
  }
  if (/^application\/x-www-form-urlencoded/iu.test(type)) {
    const form = Object.fromEntries(new URLSearchParams(body.toString("utf8")));
    return { values: { ...values, ...form }, files: [], encoding: "urlencoded" };
  }
  const boundary = /^multipart\/form-data\b.*?boundary=(?:"([^"]+)"|([^\s;]+))/iu.exec(type);
  if (boundary) {
    const parts = fromMultipart(body, boundary[1] ?? boundary[2] ?? "");
    return { values: { ...values, ...parts.values }, files: parts.files, encoding: "multipart" };
  }
  throw badRequest("unsupported content-type");
}

/** The whole body. @throws ApiError 413 above the limit (bytes) */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > limit) throw new ApiError(413, "Request Entity Too Large");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function fromJson(body: Buffer): Record<string, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    throw badRequest("can't parse JSON object");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw badRequest("expected an Object as JSON");
  }
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (value === null) continue;
    values[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return values;
}

function fromMultipart(body: Buffer, boundary: string): { values: Record<string, string>; files: UploadedFile[] } {
  const values: Record<string, string> = {};
  const files: UploadedFile[] = [];
  const mark = Buffer.from(`--${boundary}`);
  let at = body.indexOf(mark);
  if (at < 0) throw badRequest("boundary not found");
  for (;;) {
    const start = at + mark.length;
    // The last boundary is followed by two dashes.
    if (body.subarray(start, start + 2).toString("latin1") === "--") return { values, files };
    const next = body.indexOf(Buffer.concat([Buffer.from("\r\n"), mark]), start);
    const headEnd = body.indexOf("\r\n\r\n", start);
    if (next < 0 || headEnd < 0 || headEnd > next) throw badRequest("can't parse multipart body");
    const head = body.subarray(start + 2, headEnd).toString("utf8");
    const content = body.subarray(headEnd + 4, next);
    const field = /^content-disposition:.*?[;\s]name="([^"]*)"/imu.exec(head)?.[1];
    // Some clients leave the quotes of the file name out.
    const file = /^content-disposition:.*?[;\s]filename=(?:"([^"]*)"|([^;\r\n]*))/imu.exec(head);
    const fileName = file ? (file[1] ?? file[2]) : undefined;
    const mimeType = /^content-type:\s*([^\r\n;]+)/imu.exec(head)?.[1] ?? "application/octet-stream";
    if (field === undefined) throw badRequest("can't parse multipart body");
    if (fileName === undefined) values[field] = content.toString("utf8");
    else files.push({ field, fileName, mimeType, content: Buffer.from(content) });
    at = next + 2;
  }
}
