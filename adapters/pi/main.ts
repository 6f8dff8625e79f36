/**
 * The Pi adapter: entry of its child process. It owns `pi.sock`, over which the extension inside each Pi session speaks, and is transport only: it
 * puts into a session exactly what it is told, says what the session proves about it, and hands over what people and agents there say.
 */
import { runAdapter } from "../channel.ts";
import { connectPi } from "./child/connect.ts";

runAdapter(connectPi);
