// Command probe makes named attempts to get out of a sandbox, or to use more
// than its limits, and says how each ended. The tests of package escape run it
// in every back end, beside other sandboxes, and unconfined where that does no
// harm, so that an attempt is known to be able to succeed.
//
//	probe list                  every attempt, as JSON
//	probe run NAME [KEY=VALUE]  one attempt; its verdict as one line of JSON
//	probe plant NONCE           what may be left for the next user, and
//	probe look NONCE            what of it is there
//
// The values name what the tests have put on the host: files, sockets, a
// process. An attempt is open when it got what it wanted, or when a system
// call that should have been refused was carried out or failed for a reason
// that only its own code can give. Whatever an attempt would use up is bounded
// by the attempt itself.
package main
