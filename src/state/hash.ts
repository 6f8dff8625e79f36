/** SHA-256 as the store uses it: the digests of chains, tokens, leases and content. */
export { sha256, sha256Hex } from "../contracts/sha256.ts";
