/** What the tests of the process share: scripted replicas and a router in front of them. */
package dev.warmpath.router.rig;
