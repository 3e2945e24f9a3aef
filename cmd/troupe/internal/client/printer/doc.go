// Package printer writes objects as the flag --output of commands says, and tables as servers make them.
package printer
