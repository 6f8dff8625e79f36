/**
 * Entry of the child in which `holdpoint doctor` has a database checked: the path is the argument, one line of JSON the answer. A large
 * file takes a while, and neither server nor command line may stand still for it.
 */
import { toErrorRecord } from "../contracts/errors.ts";
import { quickCheck } from "../state/quick-check.ts";

let answer: object;
try {
  answer = { problems: quickCheck(process.argv[2] ?? "") };
} catch (error) {
  answer = { error: toErrorRecord(error, "storageBroken") };
}
process.stdout.write(`${JSON.stringify(answer)}\n`);
