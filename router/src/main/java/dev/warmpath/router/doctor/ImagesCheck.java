package dev.warmpath.router.doctor;

import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.router.doctor.Checks.Check;
import dev.warmpath.router.doctor.Checks.Findings;
import dev.warmpath.router.tokenize.ImageComparison;

/** Whether a chat with an image becomes the same tokens and the same name here and in vLLM. */
final class ImagesCheck implements Check {

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      replica.images().forEach(compared -> look(replica.name(), compared, into));
    }
  }

  private static void look(String replica, ImageComparison compared, Findings into) {
    String model = compared.model();
    if (compared.refusal() != null) {
      into.warn(
          replica,
          model + ": the engine refuses a chat with an image: " + compared.refusal(),
          "send it a chat with an image to see whether it serves one; if it serves none, nothing is"
              + " to do");
    } else if (compared.engineTokens() == 0) {
      into.ok(replica, model + ": the engine takes no images");
    } else if (compared.ourTokens() == 0) {
      into.warn(
          replica,
          model + ": the engine takes images, which are not known here",
          "chats with images are routed by load; docs/tokenizing.md has the models whose images are"
              + " computed or learned, and the files that `tokenizer` must have");
    } else if (compared.engineTokens() < 0) {
      into.ok(replica, model + ": the engine's /tokenize does not show images");
    } else if (!compared.isEqual()) {
      into.fail(
          replica,
          "%s: a chat with an image has %d tokens here and %d in the engine, or others"
              .formatted(model, compared.ourTokens(), compared.engineTokens()),
          "let the model's `tokenizer` be the folder that the engine loads, and start the engine"
              + " without --mm-processor-kwargs; until then images are learned from its events: the"
              + " first chat with each goes by load");
    } else {
      name(replica, compared, into);
    }
  }

  /** The tokens are equal. */
  private static void name(String replica, ImageComparison compared, Findings into) {
    String equal =
        "%s: the %d tokens of a chat with an image are equal"
            .formatted(compared.model(), compared.ourTokens());
    ImageForm form = compared.form();
    if (form != null) {
      into.ok(replica, equal + ", and so is the image's name (" + form.label() + ")");
    } else if (compared.name() == ImageComparison.Name.OTHER) {
      into.warn(
          replica,
          equal + ", but not the image's name",
          "start the engine without --media-io-kwargs and --enable-tower-connector-lora; until then"
              + " images are learned from its events: the first chat with each goes by load");
    } else {
      into.ok(replica, equal + "; events will show the image's name (the render route is closed)");
    }
  }
}
