package reference

// notYet lists the cases that need something that is not served yet, and what it is.
var notYet = map[string]string{}
