// Package declarations encodes the declarations of kinds in the format that package schema loads
// (see options.proto). It removes data that the daemon does not need, and completes messages with
// the option same_as.
package declarations
