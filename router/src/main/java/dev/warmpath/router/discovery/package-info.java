/** Where replicas are found: files, DNS, an orchestrator. */
@NullMarked
package dev.warmpath.router.discovery;

import org.jspecify.annotations.NullMarked;
