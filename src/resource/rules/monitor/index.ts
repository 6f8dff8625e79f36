/** Rules of monitors that the store and the server share. Pure; must not know clocks, cron or processes. */
export { NEW_STATE, observe, type Change, type Confirmation, type MonitorState, type Told } from "./observe.ts";
