package daemon

// Version is the version of this program. Release builds set it through the linker.
var Version = "0.1.0"
