// Cannot be loaded: the run ends with the error that says so.
throw new Error("this file is broken on purpose");
