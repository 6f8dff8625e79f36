/** Setup of every file of tests: what a test made is undone after it. */
import { afterEach } from "vitest";

import { cleanUp } from "./cleanups.ts";

afterEach(cleanUp);
