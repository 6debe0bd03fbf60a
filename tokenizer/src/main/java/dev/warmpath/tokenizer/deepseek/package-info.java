/**
 * DeepSeek's prompts, which vLLM builds in code in place of a template.
 *
 * <pre>{@code
 * body ─▶ ChatRequest ─▶ DeepSeekMessage … ─▶ V32Prompt (V3.2)                  ─▶ text
 *                                          ─▶ V4Prompt (V4; UserTurns joined)   ─▶ text
 * }</pre>
 *
 * <p>Start with {@link DeepSeekChats}: it knows the architectures and chooses between {@code
 * V32Prompt} and {@link V4Prompt}. {@link DeepSeekMessage} is a message as the engine's parser
 * leaves it, {@link Dsml} writes tools and their calls in DeepSeek's markup, {@code
 * V4Prompt.V4Thinking} decides whether and how hard V4 is to think.
 */
@NullMarked
package dev.warmpath.tokenizer.deepseek;

import org.jspecify.annotations.NullMarked;
