/**
 * Images in chats: how many placeholder tokens stand for one, and what the engine calls it, from
 * the bytes of the file and without a look at its pixels.
 *
 * <pre>{@code
 * content parts ─▶ ImageParts                          (while the chat is rendered)
 * data: URL ─▶ DataUrl ─▶ ImageHeader ─▶ ImageTokens   how many placeholders, and where
 *                     └─▶ ImageHasher                  the identifier, in each ImageForm
 *                         ImageMemory                  both, by the content of the URL
 * what engines store ─▶ LearnedImages                  both, where they cannot be computed
 * all of this ─▶ PlacedImages                          the prompt's tokens and its images
 * }</pre>
 *
 * <p>Start with {@link PromptImages}. {@link ImageTokens} has the rules of the models whose images
 * are known; {@link ImageNaming} says in which forms engines may name images. What is not certain
 * is refused, or learned: until then the chat is routed by load.
 */
@NullMarked
package dev.warmpath.tokenizer.image;

import org.jspecify.annotations.NullMarked;
