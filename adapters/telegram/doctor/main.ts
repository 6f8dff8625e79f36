/** The doctor part of the Telegram channel: a child of `holdpoint doctor`, started by path. */
import { toDoctorSchema, type FromDoctor, type ToDoctor } from "../../../src/contracts/protocol/doctor.ts";
import { openChildPipe } from "../../../src/contracts/wire/child.ts";
import { examine } from "./examine.ts";

const port = openChildPipe<ToDoctor, FromDoctor>(toDoctorSchema);
port.onFrame((frame) => {
  void examine(frame, (finding) => port.send({ type: "finding", ...finding })).then(() => port.send({ type: "done" }));
});
