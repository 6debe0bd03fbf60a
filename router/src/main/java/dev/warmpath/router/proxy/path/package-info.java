/** Which paths the router answers, and where stored responses are. */
@NullMarked
package dev.warmpath.router.proxy.path;

import org.jspecify.annotations.NullMarked;
