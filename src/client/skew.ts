/**
 * Two versions that do not understand each other: which side has to be updated.
 */
import { HoldpointError } from "../contracts/errors.ts";
import { product } from "../contracts/product.ts";
import { PROTOCOL } from "../contracts/protocol/shared.ts";

export interface Greeting {
  readonly protocol: number;
  readonly product: string;
  readonly installPath?: unknown;
}

/** The `versionSkew` error for a server of another protocol: names the older side and what to do there. */
export function skewError(server: Greeting): HoldpointError {
  const own = product();
  const older = server.protocol < PROTOCOL.client ? "server" : "client";
  const where = typeof server.installPath === "string" ? ` at ${server.installPath}` : "";
  const message =
    `The server (${server.product}${where}) speaks client protocol ${server.protocol}; ` +
    `this client (${own.version} at ${own.installPath}) speaks ${PROTOCOL.client}.`;
  const remedy =
    older === "server"
      ? "Update the server's installation, then `holdpoint server stop` and start it again."
      : "Update this client's installation.";
  return new HoldpointError("versionSkew", message, { remedy, details: { update: older } });
}
