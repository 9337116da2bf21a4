(() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const slow = () => !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const source = document.getElementById("moving");
  const moving = source ? JSON.parse(source.textContent) : null;
  let attribute = 0;
  let model = moving ? moving.start : 0;

  // Which attribute the pictures show.
  const choose = (number) => {
    attribute = number;
    all("[data-attribute]").forEach((part) => { part.hidden = Number(part.dataset.attribute) !== number; });
    all("input.attribute").forEach((input) => { input.checked = Number(input.value) === number; });
    if (moving) write();
  };
  all("fieldset.attributes").forEach((field) => { field.hidden = false; });
  all("input.attribute").forEach((input) => input.addEventListener("change", () => choose(Number(input.value))));

  // The slider along the path.
  const slider = document.getElementById("slider");
  // Densities of each attribute and group at the step that is shown.
  let shown = moving ? moving.densities[model] : [];
  let frame = 0;

  const place = () => shown.forEach((groups, k) => {
    const [left, top, width, height] = moving.boxes[k];
    all(".moving[data-attribute='" + k + "'] path[data-group]").forEach((path) => {
      const curve = groups[Number(path.dataset.group)];
      path.setAttribute("d", curve ? "M" + curve.map((value, n) =>
        (left + width * n / (curve.length - 1)).toFixed(1) + " " + (top + height * (1 - value / 999)).toFixed(1)
      ).join("L") : "");
    });
  });
  const between = (from, to, share) => from.map((groups, k) => groups.map((curve, g) => {
    const goal = to[k][g];
    return curve && goal ? curve.map((value, n) => value + share * (goal[n] - value)) : goal;
  }));
  const move = () => {
    cancelAnimationFrame(frame);
    const from = shown;
    const to = moving.densities[model];
    if (!slow()) { shown = to; place(); return; }
    const start = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - start) / 250));
      shown = between(from, to, share);
      place();
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  };
  const write = () => {
    const numbers = moving.models[model];
    const values = Object.assign({ variance: numbers.variance },
      numbers.by_attribute[attribute]);
    Object.keys(values).forEach((name) => {
      const place = document.getElementById("now-" + name);
      if (place) place.textContent = values[name];
    });
    moving.curves.forEach((curve, k) => {
      ["fitted", "new"].forEach((name) => {
        const mark = document.getElementById("mark-" + name + "-" + k);
        mark.setAttribute("x", curve[name][model]);
        mark.setAttribute("y", curve.y[model]);
      });
    });
    all("tr[data-model]").forEach((row) => row.classList.toggle("current", Number(row.dataset.model) === model));
    slider.setAttribute("aria-valuetext", "Step " + (model + 1) + " of " + moving.models.length + ": keeps " +
      values.variance + " of the variance; measure on new people " + values.new + ", chance level " + values.chance);
  };
  if (moving) {
    document.getElementById("controls").hidden = false;
    slider.value = String(model);
    slider.addEventListener("input", () => { model = Number(slider.value); write(); move(); });
  }
  choose(0);
})();
