/** DeepSeek's prompts, which vLLM builds by code in place of a template. */
@NullMarked
package dev.warmpath.tokenizer.deepseek;

import org.jspecify.annotations.NullMarked;
