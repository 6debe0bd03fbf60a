/** Requests for gpt-oss turned into prompts in the Harmony form, as vLLM writes them in code. */
@NullMarked
package dev.warmpath.tokenizer.harmony;

import org.jspecify.annotations.NullMarked;
