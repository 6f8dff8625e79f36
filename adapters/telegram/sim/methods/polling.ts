/**
 * getUpdates and the webhook methods. A webhook is remembered and blocks getUpdates as on the real server; nothing is
 * ever posted to it, because it would have to be a public HTTPS address.
 */
import { ApiError, badRequest } from "../api-error.ts";
import { LIMITS } from "../limits.ts";
import { type Call, flag, integer, json, text } from "./call.ts";

/** A broken allowed_updates is ignored, as by the server. */
function allowedUpdates(call: Call): string[] | undefined {
  try {
    const list = json(call, "allowed_updates", "");
    return Array.isArray(list) ? list.map(String) : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

export async function getUpdates(call: Call): Promise<unknown> {
  const offset = integer(call, "offset", 0);
  const limit = integer(call, "limit", LIMITS.pollUpdates, 1, LIMITS.pollUpdates);
  const timeout = integer(call, "timeout", 0, 0, LIMITS.pollSeconds);
  if (call.updates.webhookUrl === "") call.updates.allow(allowedUpdates(call));
  const updates = await call.updates.get(offset, limit, timeout, call.caller);
  call.handedOut.push(...updates.map((update) => update.update_id));
  return updates;
}

export function setWebhook(call: Call): unknown {
  const url = text(call, "url");
  if (url === "") return deleteWebhook(call);
  if (!/^https:\/\/[^\s/]+/iu.test(url)) throw badRequest("bad webhook: An HTTPS URL must be provided for webhook");
  const secret = text(call, "secret_token");
  if (!/^[\w-]{0,256}$/u.test(secret)) {
    throw badRequest("secret token contains unallowed characters");
  }
  call.updates.allow(allowedUpdates(call));
  if (flag(call, "drop_pending_updates")) call.updates.clear();
  call.updates.interrupt("webhook");
  call.updates.webhookUrl = url;
  call.world.touch();
  return true;
}

export function deleteWebhook(call: Call): unknown {
  if (flag(call, "drop_pending_updates")) call.updates.clear();
  call.updates.webhookUrl = "";
  call.world.touch();
  return true;
}

export function getWebhookInfo(call: Call): unknown {
  const allowed = call.updates.allowed();
  return {
    url: call.updates.webhookUrl,
    has_custom_certificate: false,
    pending_update_count: call.updates.pending().length,
    ...(allowed ? { allowed_updates: allowed } : {}),
  };
}
