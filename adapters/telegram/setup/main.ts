/** The set-up part of the Telegram channel: a child of `holdpoint setup telegram`, started by path. */
import { toSetupSchema, type FromSetup, type ToSetup } from "../../../src/contracts/protocol/setup.ts";
import { openChildPipe } from "../../../src/contracts/wire/child.ts";
import { SetupSession } from "./session.ts";

const port = openChildPipe<ToSetup, FromSetup>(toSetupSchema);
const session = new SetupSession((frame) => port.send(frame));
port.onFrame((frame) => void session.take(frame));
