package dev.warmpath.router.tokenize;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.Prediction;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.image.PlacedImages;
import dev.warmpath.tokenizer.image.PromptImage;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of chats with images what their engines report: how many tokens they have, whether all
 * images were found, and that they are over.
 *
 * <p>Thread-safe.
 */
public final class ImageTap implements DispatchListener {

  private static final Logger LOG = LoggerFactory.getLogger(ImageTap.class);

  private final EngineEvents events;
  private final Function<@Nullable String, @Nullable ModelTokenizer> tokenizers;

  /**
   * @param tokenizers the tokenizer of what a request names, null if there is none
   */
  public ImageTap(
      EngineEvents events, Function<@Nullable String, @Nullable ModelTokenizer> tokenizers) {
    this.events = events;
    this.tokenizers = tokenizers;
  }

  @Override
  public void reported(Assignment assignment, int promptTokens, int cachedTokens) {
    PlacedImages images = assignment.images();
    if (images == null) {
      return;
    }
    Prediction prediction = assignment.choice().prediction();
    if (prediction.predicts() && !assignment.isUntold()) {
      if (images.isByRules() && images.ids().length == promptTokens) {
        confirmRules(assignment);
      }
    }
    boolean foundAll = images.areKnown() && end(images) <= cachedTokens;
    events.endedImages(assignment.replica(), assignment.dpRank(), images, foundAll);
  }

  /** Behind the last image. */
  private static int end(PlacedImages images) {
    List<PromptImage> all = images.images();
    PromptImage last = all.get(all.size() - 1);
    return last.from() + last.lengthTokens();
  }

  private void confirmRules(Assignment assignment) {
    ModelTokenizer tokenizer = tokenizers.apply(assignment.model());
    if (tokenizer != null) {
      tokenizer.images().confirmRules();
    }
  }

  @Override
  public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
    PlacedImages images = assignment.images();
    ModelTokenizer tokenizer = images == null ? null : tokenizers.apply(assignment.model());
    if (images == null || tokenizer == null) {
      return;
    }
    if (!images.isByRules()) {
      images.doubtLengths();
      return;
    }
    if (images.areNamed()) {
      return; // the engine may keep another image under that name
    }
    if (tokenizer.images().doubtRules()) {
      LOG.warn(
          "engine {} counts {} tokens of a chat of {} with images, and not {}: the next of them are"
              + " routed on load, to learn from the engine's events",
          assignment.replica().name(),
          engineTokens,
          assignment.model(),
          routerTokens);
    }
  }

  @Override
  public void finished(Assignment assignment, Outcome outcome) {
    PlacedImages images = assignment.images();
    if (images != null) {
      events.endedImages(assignment.replica(), assignment.dpRank(), images, false);
    }
  }
}
