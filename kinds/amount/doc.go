// Package amount adds and compares quantities, such as the cpu of all Pods in a namespace. A List
// does the same for several resources, such as the requests of all containers of a Pod. Most
// amounts fit into integers. Others use exact decimal arithmetic. An Amount remembers whether its
// suffix is a power of 1000 or of 1024.
package amount
