// Command extension is a server that extends the API: it is built on the public library, as the servers of the real world
// are, serves the metrics of nodes and Pods from memory, and believes whom the daemon tells it to believe: it reads the
// ConfigMap with the authorities of the front proxy, has tokens reviewed, and asks for each request whether its user may
// make it. Its metrics of Pods can be created and watched as well, unlike those of the real world.
//
// It is a process of its own, since one process cannot hold both the library's and the daemon's Protobuf extensions. It
// serves on the listener that it inherits as descriptor 3, and first prints the authority of its certificate, as PEM.
package main
