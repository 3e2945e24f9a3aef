// Package printer prints objects in the formats of --output, and tables from servers.
package printer
