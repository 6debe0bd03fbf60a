/**
 * The tokenizers of the configured models: loaded, downloaded if need be, and compared with the
 * engines'.
 *
 * <pre>{@code
 * ModelConfig ─▶ LoadedTokenizers ─▶ TokenizerSlot ─▶ ModelSettings.load ─▶ ModelTokenizer
 *                                       hf://… ─▶ HubFiles ─▶ HubCache, HubDownload (HubClient)
 * ParityWatch ─▶ ParityCheck ─▶ an engine's /tokenize or …/render ─▶ equal, or quarantine
 * RemotePrompts ─▶ an engine's …/render or /tokenize ─▶ a prompt that is not known here
 * }</pre>
 *
 * <p>Start with {@link LoadedTokenizers}, which gives {@code prompt.Tokenizers} the tokenizer of
 * each model. {@link ParityWatch} compares our tokens with the engines' and takes a model that
 * differs out of use. {@link RemotePrompts} asks engines for what cannot be rendered here. Both ask
 * through {@code upstream.EngineHttp}. {@link ImageTap} tells the event streams which chats with
 * images are under way where. {@link TokenizerStatus} is what operators see.
 */
@NullMarked
package dev.warmpath.router.tokenize;

import org.jspecify.annotations.NullMarked;
