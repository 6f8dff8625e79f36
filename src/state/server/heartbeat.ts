/** The sign of life of the server that owns the present epoch. */
import { HoldpointError } from "../../contracts/errors.ts";
import { defineCommand } from "../command.ts";

/** Throws `claimLost` when another epoch owns the database by now. */
export const heartbeat = defineCommand("server.heartbeat", (tx, input: { epoch: number }): null => {
  const { changes } = tx.run(
    "UPDATE server_state SET heartbeat_at = ? WHERE id = 1 AND epoch = ?",
    tx.now,
    input.epoch,
  );
  if (changes === 0) throw new HoldpointError("claimLost", `Server epoch ${input.epoch} is no longer the present one.`);
  return null;
});
