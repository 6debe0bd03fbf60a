package dev.warmpath.router.tokenize;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.Prediction;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.tokenizer.image.PlacedImages;
import dev.warmpath.tokenizer.image.PromptImage;
import dev.warmpath.tokenizer.image.PromptImages;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the event streams which chats with images are under way at which engine, and of them what
 * their engines report: how many tokens they have, whether all images were found, and that they are
 * over.
 *
 * <p>Thread-safe.
 */
public final class ImageTap implements DispatchListener {

  private static final Logger LOG = LoggerFactory.getLogger(ImageTap.class);

  private final EngineEvents events;
  private final Function<@Nullable String, @Nullable PromptImages> models;

  /**
   * @param models the images of the model that a request names, null if its tokenizer is not loaded
   */
  public ImageTap(EngineEvents events, Function<@Nullable String, @Nullable PromptImages> models) {
    this.events = events;
    this.models = models;
  }

  @Override
  public void assigned(PreparedRequest request, Assignment assignment) {
    PlacedImages images = assignment.images();
    if (images != null) {
      events.sendingImages(assignment.replica(), assignment.dpRank(), images);
    } else if (assignment.hasUnreadImages()) {
      events.sendingUnread(assignment.replica(), assignment.dpRank(), assignment);
    }
  }

  /** What the engine stores from now on is not an unread image. */
  @Override
  public void prefilled(Assignment assignment) {
    if (assignment.hasUnreadImages()) {
      events.endedImages(assignment.replica(), assignment.dpRank(), assignment, false);
    }
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
    PromptImages model = models.apply(assignment.model());
    if (model != null) {
      model.confirmRules();
    }
  }

  @Override
  public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
    PlacedImages images = assignment.images();
    PromptImages model = images == null ? null : models.apply(assignment.model());
    if (images == null || model == null) {
      return;
    }
    if (!images.isByRules()) {
      images.doubtLengths();
      return;
    }
    if (images.areNamed()) {
      return; // the engine may keep another image under that name
    }
    if (model.doubtRules()) {
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
    } else if (assignment.hasUnreadImages()) {
      events.endedImages(assignment.replica(), assignment.dpRank(), assignment, false);
    }
  }
}
