/** The hashes that vLLM itself gives to blocks, bit for bit. */
@NullMarked
package dev.warmpath.kvindex.enginehash;

import org.jspecify.annotations.NullMarked;
